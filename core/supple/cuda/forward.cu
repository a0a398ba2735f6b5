// Kernels of forward kinematics: frames and Jacobians of one link, and frames of several links.
//
// SUPPLE_REAL: float or double; SUPPLE_BLOCK: threads of a block. For one link: SUPPLE_JOINTS: joints of an
// arm, or 0 for any chain; SUPPLE_DOF; SUPPLE_AXES: of the chain. For several links: SUPPLE_NODES.
#include "supple/cuda/forward.h"
#include "supple/cuda/kernel.h"

using namespace supple;
using Real = SUPPLE_REAL;

#if defined(SUPPLE_AXES)
constexpr int joint_count = SUPPLE_JOINTS, dof = SUPPLE_DOF, threads = SUPPLE_BLOCK;
constexpr int widest = 6 * dof > 16 ? 6 * dof : 16;
using RealArm = Arm<Real, (joint_count ? joint_count : 1)>;

// Frames (count, 4, 4) and Jacobians (count, 6, dof) of q (count, dof); either may be null. `points`: null,
// or points in the link's axes, point_stride apart.
SUPPLE_KERNEL(SUPPLE_BLOCK, frame_and_jacobian, const ChainBlock *block, SUPPLE_STRUCT(RealArm, arm),
              const Real *q, const Real *points, long long point_stride, int in_link_axes, Real *frames,
              Real *jacobians, long long count) {
  SUPPLE_SHARED Real shared[threads * padded(widest)];
  SUPPLE_BLOCKS(b) {
    const long long first = b * threads;
    const int rows = int(count - first < threads ? count - first : threads);
    OfThread<Frame<Real>, threads> tip;
    OfThread<Axis<Real>[SUPPLE_AXES + 1], threads> axes;
    SUPPLE_BLOCK_THREADS(k) load_rows<dof>(q + first * dof, shared, rows, k, threads);
    SUPPLE_BARRIER;
    SUPPLE_BLOCK_THREADS(k)
    if (k < rows)
      tip[k] = row_frame<joint_count>(*block, arm, shared + k * padded(dof), axes[k]);
    SUPPLE_BARRIER;
    if (frames) {
      SUPPLE_BLOCK_THREADS(k)
      if (k < rows)
        place_frame(tip[k], shared + k * padded(16));
      SUPPLE_BARRIER;
      SUPPLE_BLOCK_THREADS(k) store_rows<16>(shared, frames + first * 16, 16, rows, k, threads);
      SUPPLE_BARRIER;
    }
    if (jacobians) {
      SUPPLE_BLOCK_THREADS(k)
      if (k < rows) {
        Real *J = shared + k * padded(6 * dof);
        if (joint_count != dof)
          for (int i = 0; i < 6 * dof; ++i)
            J[i] = Real(0);
        Vec<Real> point = tip[k].p;
        if (points)
          point = tip[k] * load3(points + (first + k) * point_stride);
        row_jacobian<joint_count>(*block, arm, axes[k], point, in_link_axes != 0, tip[k].r, dof, J);
      }
      SUPPLE_BARRIER;
      SUPPLE_BLOCK_THREADS(k)
      store_rows<6 * dof>(shared, jacobians + first * 6 * dof, 6 * dof, rows, k, threads);
    }
    SUPPLE_BARRIER;
  }
}
#endif

#if defined(SUPPLE_NODES)
constexpr int dof = SUPPLE_DOF, threads = SUPPLE_BLOCK;

// Frames (count, tips, 4, 4) of q (count, dof).
SUPPLE_KERNEL(SUPPLE_BLOCK, tree_frames, const TreeBlock *block, const Real *q, Real *frames,
              long long count) {
  SUPPLE_SHARED Real shared[threads * padded(dof > 16 ? dof : 16)];
  SUPPLE_BLOCKS(b) {
    const long long first = b * threads;
    const int rows = int(count - first < threads ? count - first : threads);
    OfThread<Frame<Real>[SUPPLE_NODES + 1], threads> world;
    SUPPLE_BLOCK_THREADS(k) load_rows<dof>(q + first * dof, shared, rows, k, threads);
    SUPPLE_BARRIER;
    SUPPLE_BLOCK_THREADS(k)
    if (k < rows)
      traverse(block->nodes, block->node_count, shared + k * padded(dof), world[k]);
    SUPPLE_BARRIER;
    for (int i = 0; i < block->tip_count; ++i) {
      const Tip &tip = block->tips[i];
      const Frame<Real> at = constant<Real>(tip.rotation, tip.position);
      SUPPLE_BLOCK_THREADS(k)
      if (k < rows)
        place_frame(tip.node < 0 ? at : world[k][tip.node] * at, shared + k * padded(16));
      SUPPLE_BARRIER;
      const long long stride = 16LL * block->tip_count;
      SUPPLE_BLOCK_THREADS(k)
      store_rows<16>(shared, frames + first * stride + 16 * i, stride, rows, k, threads);
      SUPPLE_BARRIER;
    }
  }
}
#endif
