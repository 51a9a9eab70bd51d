/** The incumbent's default for `--cluster-name`, and the sandbox's cluster. */
export const CLUSTER_NAME = "kubernetes";
