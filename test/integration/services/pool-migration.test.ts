import { poolMigrationSuite } from "../../suites/services/pool-migration.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";

poolMigrationSuite("the embedded server", openEmbeddedCluster);
