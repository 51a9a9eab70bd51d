import { tenantLimitsSuite } from "../../suites/tenants/tenant-limits.ts";
import { tenantLinksSuite, tenantsSuite } from "../../suites/tenants/tenants.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";

tenantsSuite("the embedded server", openEmbeddedCluster);
tenantLinksSuite("the embedded server", openEmbeddedCluster);
tenantLimitsSuite("the embedded server", openEmbeddedCluster);
