"""Writers of files: solutions as .csv or .npz; motions also as .bvh, .gltf and .glb."""
