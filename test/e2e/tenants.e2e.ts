/** Two tenants of one cluster, on a real kube-apiserver. */
import { tenantLinksSuite, tenantsSuite } from "../suites/tenants/tenants.ts";
import { openRealCluster } from "../support/real-cluster.ts";

tenantsSuite("kube-apiserver", openRealCluster);
tenantLinksSuite("kube-apiserver", openRealCluster);
