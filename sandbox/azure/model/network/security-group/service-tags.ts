/**
 * The service tags of security rules, without regard to case. A service's tag may be narrowed to a region: `Storage` or
 * `Storage.WestUS2`. Azure adds tags and regions now and then; which services have regional tags changes too, so every
 * service is taken to have them.
 */

/** Tags of the platform, which have no regions. */
const PLATFORM = setOf(`
  AzureLoadBalancer AzurePlatformDNS AzurePlatformIMDS AzurePlatformLKM Internet VirtualNetwork
`);

const SERVICES = setOf(`
  ActionGroup ApiManagement AppConfiguration AppService AppServiceManagement ApplicationInsightsAvailability
  AutonomousDevelopmentPlatform AzureActiveDirectory AzureActiveDirectoryDomainServices AzureAdvancedThreatProtection
  AzureArcInfrastructure AzureAttestation AzureBackup AzureBotService AzureCloud AzureCognitiveSearch AzureConnectors
  AzureContainerAppsService AzureContainerRegistry AzureCosmosDB AzureDataExplorerManagement AzureDataLake
  AzureDatabricks AzureDevOps AzureDevSpaces AzureDeviceUpdate AzureDigitalTwins AzureEventGrid AzureFrontDoor.Backend
  AzureFrontDoor.FirstParty AzureFrontDoor.Frontend AzureFrontDoor.MicrosoftSecurity AzureHealthcareAPIs
  AzureInformationProtection AzureIoTHub AzureKeyVault AzureLoadTestingInstanceManagement AzureMachineLearning
  AzureMachineLearningInference AzureManagedGrafana AzureMonitor AzureMonitorForSAP AzureOpenDatasets
  AzureResourceManager AzureSentinel AzureSignalR AzureSiteRecovery AzureSphere AzureSpringCloud AzureStack
  AzureTrafficManager AzureUpdateDelivery AzureWebPubSub BatchNodeManagement ChaosStudio CognitiveServicesFrontend
  CognitiveServicesManagement DataFactory DataFactoryManagement Dynamics365BusinessCentral Dynamics365ForMarketingEmail
  EOPExternalPublishedIPs EventHub GatewayManager GuestAndHybridManagement HDInsight KustoAnalytics LogicApps
  LogicAppsManagement M365ManagementActivityApi M365ManagementActivityApiWebhook MicrosoftAzureFluidRelay
  MicrosoftCloudAppSecurity MicrosoftContainerRegistry MicrosoftDefenderForEndpoint MicrosoftPurviewPolicyDistribution
  OneDsCollector PowerBI PowerPlatformInfra PowerPlatformPlex PowerQueryOnline SCCservice Scuba SecurityCopilot
  SerialConsole ServiceBus ServiceFabric Sql SqlManagement Storage StorageMover StorageSyncService
  TrustedHardwareIdentityManagement VideoIndexer WindowsAdminCenter WindowsVirtualDesktop
`);

/** Names of regions, and the shorter forms that some of them have in service tags. */
const REGIONS = setOf(`
  AustraliaCentral AustraliaCentral2 AustraliaEast AustraliaSoutheast AustriaEast BelgiumCentral BrazilSE BrazilSouth
  BrazilSoutheast CanadaCentral CanadaEast CentralFrance CentralIndia CentralUS CentralUSEUAP ChileCentral EastAsia
  EastUS EastUS2 EastUS2EUAP FranceCentral FranceSouth GermanyN GermanyNorth GermanyWC GermanyWestCentral
  IndonesiaCentral IsraelCentral IsraelNorthwest ItalyNorth JapanEast JapanWest JioIndiaCentral JioIndiaWest
  KoreaCentral KoreaSouth MalaysiaSouth MalaysiaWest MexicoCentral NewZealandNorth NorthCentralUS NorthEurope NorwayE
  NorwayEast NorwayW NorwayWest PolandCentral QatarCentral SouthAfricaNorth SouthAfricaWest SouthCentralUS
  SouthEastAsia SouthFrance SouthIndia SpainCentral SwedenCentral SwedenSouth SwitzerlandN SwitzerlandNorth
  SwitzerlandW SwitzerlandWest TaiwanNorth TaiwanNorthwest UAECentral UAENorth UKSouth UKWest WestCentralUS WestEurope
  WestIndia WestUS WestUS2 WestUS3
`);

export function isServiceTag(value: string): boolean {
  const tag = value.toLowerCase();
  if (PLATFORM.has(tag) || SERVICES.has(tag)) return true;
  const dot = tag.lastIndexOf(".");
  return dot > 0 && SERVICES.has(tag.slice(0, dot)) && REGIONS.has(tag.slice(dot + 1));
}

function setOf(names: string): ReadonlySet<string> {
  return new Set(names.trim().toLowerCase().split(/\s+/));
}
