/** Two tenants of one cluster, on a real kube-apiserver. */
import { tenantLimitsSuite } from "../suites/tenants/tenant-limits.ts";
import { tenantLinksSuite, tenantsSuite } from "../suites/tenants/tenants.ts";
import { openRealCluster } from "../support/real-cluster.ts";

tenantsSuite("kube-apiserver", openRealCluster);
tenantLinksSuite("kube-apiserver", openRealCluster);
tenantLimitsSuite("kube-apiserver", openRealCluster);
