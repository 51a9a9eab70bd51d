/** Private link services, fleets, migrations of pools, Services beside the resources and the writes of others, and beside Services that cannot be served, on a real kube-apiserver. */
import { fleetSuite } from "../suites/services/fleet.ts";
import { foreignThingsSuite } from "../suites/services/foreign-things.ts";
import { hostileServicesSuite } from "../suites/services/hostile-services.ts";
import { oneInvalidServiceSuite } from "../suites/services/one-invalid-service.ts";
import { poolMigrationSuite } from "../suites/services/pool-migration.ts";
import { probeModesSuite } from "../suites/services/probe-modes.ts";
import { privateLinksSuite } from "../suites/services/private-links.ts";
import { twoClassesSuite } from "../suites/services/two-classes.ts";
import { twoWritersSuite } from "../suites/services/two-writers.ts";
import { openRealCluster } from "../support/real-cluster.ts";

twoWritersSuite("kube-apiserver", openRealCluster);
oneInvalidServiceSuite("kube-apiserver", openRealCluster);
foreignThingsSuite("kube-apiserver", openRealCluster);
privateLinksSuite("kube-apiserver", openRealCluster);
fleetSuite("kube-apiserver", openRealCluster);
poolMigrationSuite("kube-apiserver", openRealCluster);
probeModesSuite("kube-apiserver", openRealCluster);
twoClassesSuite("kube-apiserver", openRealCluster);
hostileServicesSuite("kube-apiserver", openRealCluster);
