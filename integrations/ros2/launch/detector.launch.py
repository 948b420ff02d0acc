"""The detector, configured and active; remap ~/image to a camera's topic."""
from launch import LaunchDescription
from launch.substitutions import PathJoinSubstitution
from launch_ros.actions import LifecycleNode
from launch_ros.substitutions import FindPackageShare


def generate_launch_description():
    return LaunchDescription([
        LifecycleNode(
            package="millrace_ros", executable="detector_node", name="millrace_detector", namespace="",
            parameters=[PathJoinSubstitution([FindPackageShare("millrace_ros"), "config", "detector.yaml"])],
            remappings=[("~/image", "/camera/image_raw")], output="screen"),
    ])
