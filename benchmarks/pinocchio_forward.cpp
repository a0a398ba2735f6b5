// Nanoseconds that pinocchio's own C++ takes for the frame and Jacobian of one link: forward URDF LINK
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/model.hpp>
#include <pinocchio/parsers/urdf.hpp>

#include <chrono>
#include <cstdio>

int main(int, char **argv) {
  pinocchio::Model whole;
  pinocchio::urdf::buildModel(argv[1], whole);
  const std::vector<pinocchio::JointIndex> fingers{whole.getJointId("panda_finger_joint1"), whole.getJointId("panda_finger_joint2")};
  const pinocchio::Model model = pinocchio::buildReducedModel(whole, fingers, pinocchio::neutral(whole));
  pinocchio::Data data(model);
  const auto frame = model.getFrameId(argv[2]);
  const Eigen::VectorXd q = pinocchio::neutral(model);
  Eigen::MatrixXd J = Eigen::MatrixXd::Zero(6, model.nv);
  double best = 1e300;
  for (int round = 0; round < 100; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i) {
      pinocchio::computeJointJacobians(model, data, q);
      pinocchio::updateFramePlacement(model, data, frame);
      pinocchio::getFrameJacobian(model, data, frame, pinocchio::LOCAL_WORLD_ALIGNED, J);
    }
    const double ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / 1000;
    best = ns < best ? ns : best;
  }
  std::printf("%f\n", best);
}
