"""Written .glb files in other software: the Khronos validator passes them, and three.js plays them in a browser.

Both come from npm, so these tests run with `make gates` only.
"""

from __future__ import annotations

import http.server
import io
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser import PATIENCE
from supple import Frame, Motion, models

pytestmark = pytest.mark.gate
CLIP = Path(__file__).parents[1] / "data" / "cmu_01_01.bvh"
TIMES = [0.0, 0.31, 1.0, 1.9, 3.7]
VALIDATE = """
const validator = require("gltf-validator"), fs = require("fs");
validator.validateBytes(new Uint8Array(fs.readFileSync(process.argv[2])), {maxIssues: 100})
  .then(report => console.log(JSON.stringify(report.issues)));
"""
PLAYER = """<!doctype html><body style="margin:0"><script type="importmap">
{"imports": {"three": "./node_modules/three/build/three.module.js",
             "three/addons/": "./node_modules/three/examples/jsm/"}}</script>
<script type="module">
import * as THREE from "three";
import {GLTFLoader} from "three/addons/loaders/GLTFLoader.js";
try {
  const gltf = await new GLTFLoader().loadAsync("clip.glb");
  const scene = new THREE.Scene(), camera = new THREE.PerspectiveCamera(40, 1, 0.01, 1000);
  const renderer = new THREE.WebGLRenderer({antialias: true, preserveDrawingBuffer: true});
  renderer.setSize(480, 480);
  document.body.append(renderer.domElement);
  scene.background = new THREE.Color(0xf4f2ee);
  scene.add(gltf.scene, new THREE.HemisphereLight(0xffffff, 0x887766, 3));
  const mixer = new THREE.AnimationMixer(gltf.scene);
  mixer.clipAction(gltf.animations[0]).setLoop(THREE.LoopOnce).play();
  mixer.clipAction(gltf.animations[0]).clampWhenFinished = true;
  window.pose = (time, names) => {
    mixer.setTime(time);
    gltf.scene.updateMatrixWorld(true);
    const box = new THREE.Box3();
    const found = names.map(name => {
      const place = gltf.scene.getObjectByName(name).getWorldPosition(new THREE.Vector3());
      box.expandByPoint(place);
      return place.toArray();
    });
    const middle = box.getCenter(new THREE.Vector3()), size = box.getSize(new THREE.Vector3()).length();
    camera.position.copy(middle).add(new THREE.Vector3(0.7, 0.3, 1).multiplyScalar(1.4 * size));
    camera.lookAt(middle);
    renderer.render(scene, camera);
    return found;
  };
  window.duration = gltf.animations[0].duration;
} catch (error) { window.failure = String(error); }
</script>"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the packages of npm."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("node and npm are not installed")
    folder = tmp_path_factory.mktemp("npm")
    (folder / "package.json").write_text('{"private": true}')
    command = ["npm", "install", "--no-audit", "--no-fund", "gltf-validator", "three"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    except subprocess.TimeoutExpired:
        pytest.skip("npm does not answer")
    if done.returncode:
        pytest.skip(f"npm cannot install gltf-validator and three: {done.stderr[-300:]}")
    return folder


def motions() -> dict[str, Motion]:
    """Motions of a clip, a figure, a puppet and robots."""
    made = {"clip": Motion.load(CLIP, up="y", unit=0.056444).part(1.0, 5.0).retimed(4.0, 0.0)}
    for name in ("human", "puppet", "g1", "panda", "planar3"):
        figure = models.get(name)
        rest = figure.rest
        poses = [rest, *(figure.integrate(rest, 0.5 * figure.difference(rest, q)) for q in figure.random(3, seed=1))]
        keys = Motion(figure, [0, 1, 2.5, 4], poses)
        made[name] = Motion(figure, np.arange(121) / 30, keys.at(np.arange(121) / 30))
    return made


@pytest.mark.parametrize("ending", [".glb", ".gltf"])
def test_the_validator_finds_neither_errors_nor_warnings(packages: Path, ending: str) -> None:
    (packages / "validate.js").write_text(VALIDATE)
    for name, motion in motions().items():
        file = packages / f"{name}{ending}"
        motion.save(file)
        done = subprocess.run(
            ["node", "validate.js", str(file)], cwd=packages, capture_output=True, text=True, check=True, timeout=300
        )
        issues = json.loads(done.stdout)
        assert issues["numErrors"] == issues["numWarnings"] == 0, (name, issues["messages"][:5])
        # links without a shape of their own are empty nodes
        assert {message["code"] for message in issues["messages"]} <= {"NODE_EMPTY"}, name


@pytest.fixture
def address(packages: Path) -> Iterator[str]:
    """Address of a server of the folder."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(packages)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.browser
def test_a_browser_plays_what_is_written(packages: Path, address: str, chromium: Any) -> None:
    from PIL import Image

    (packages / "player.html").write_text(PLAYER)
    for name, motion in motions().items():
        motion.save(packages / "clip.glb")
        page: Any = chromium.new_page(viewport={"width": 480, "height": 480})
        page.goto(f"{address}/player.html")
        page.wait_for_function("Boolean(window.pose || window.failure)", timeout=1000 * PATIENCE)
        assert page.evaluate("window.failure ?? null") is None
        assert page.evaluate("window.duration") == pytest.approx(motion.duration, abs=1e-5)
        links = [link.name for link in motion.linkage.links]
        to_file = Frame.at([0, 0, 0], [[1, 0, 0], [0, 0, 1], [0, -1, 0]])  # z of the world is y of the file
        pictures = []
        for time in TIMES:
            found = np.array(page.evaluate("([t, names]) => window.pose(t, names)", [time, links]))
            expected = to_file.apply(motion.frames(time).matrix[:, :3, 3])
            # three.js computes in double precision from the single precision of the file
            reach = max(1.0, float(np.abs(expected).max()))
            assert np.abs(found - expected).max() < 2e-6 * reach, (name, time)
            shot = page.locator("canvas").screenshot(timeout=1000 * PATIENCE)
            pictures.append(np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"), dtype=int))
        for picture in pictures:
            drawn = np.abs(picture - picture[0, 0]).max(axis=-1) > 40
            assert 0.003 < drawn.mean() < 0.8, name  # there is a figure, and it does not fill the picture
        assert (np.abs(pictures[1] - pictures[-1]).max(axis=-1) > 40).mean() > 0.001  # it has moved
        page.close()
