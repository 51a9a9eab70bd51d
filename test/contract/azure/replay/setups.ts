/**
 * What must be there before each recording is replayed, as PUTs in order. Where a recording only reads, the body that
 * it shows is PUT first.
 */
import { targetOf, type Recording } from "./recordings.ts";

export interface Put {
  readonly path: string;
  readonly body: unknown;
}

type Setup = (place: Place, recording: Recording, all: ReadonlyMap<string, Recording>) => readonly Put[];

/** PUTs in the group and region of one recording. */
interface Place {
  readonly location: string;
  readonly network: string;
  readonly compute: string;
  group(): Put;
  vnet(name: string, prefix: string, subnets: Readonly<Record<string, string>>, policies?: object): Put;
  address(name: string, more?: object): Put;
  /** A load balancer with one public frontend, pools and whatever else. */
  balancer(name: string, frontend: string, address: string, more?: object): Put;
  nic(name: string, config: string, subnet: string, more?: object): Put;
}

export function setUpFor(recording: Recording, all: ReadonlyMap<string, Recording>): readonly Put[] {
  const setup = SETUPS[recording.number];
  if (setup === undefined) throw new Error(`${recording.name} has no setup: say what must be there before it`);
  return setup(placeOf(recording), recording, all);
}

function placeOf(recording: Recording): Place {
  const first = recording.exchanges[0];
  if (first === undefined) throw new Error(`${recording.name} is empty`);
  const [, group = ""] = /^(\/subscriptions\/[^/]+\/resourcegroups\/[^/?]+)/i.exec(targetOf(first)) ?? [];
  const location = locationOf(recording);
  const network = `${group}/providers/Microsoft.Network`;
  return {
    location,
    network,
    compute: `${group}/providers/Microsoft.Compute`,
    group: () => ({ path: group, body: { location } }),
    vnet: (name, prefix, subnets, policies = {}) => ({
      path: `${network}/virtualNetworks/${name}`,
      body: {
        location,
        properties: {
          addressSpace: { addressPrefixes: [prefix] },
          subnets: Object.entries(subnets).map(([subnet, addressPrefix]) => ({
            name: subnet,
            properties: { addressPrefix, ...policies },
          })),
        },
      },
    }),
    address: (name, more = {}) => ({
      path: `${network}/publicIPAddresses/${name}`,
      body: { location, sku: { name: "Standard" }, properties: { publicIPAllocationMethod: "Static" }, ...more },
    }),
    balancer: (name, frontend, address, more = {}) => ({
      path: `${network}/loadBalancers/${name}`,
      body: {
        location,
        sku: { name: "Standard" },
        tags: {},
        properties: {
          frontendIPConfigurations: [
            { name: frontend, properties: { publicIPAddress: { id: `${network}/publicIPAddresses/${address}` } } },
          ],
          ...more,
        },
      },
    }),
    nic: (name, config, subnet, more = {}) => ({
      path: `${network}/networkInterfaces/${name}`,
      body: {
        location,
        properties: {
          ipConfigurations: [
            { name: config, properties: { subnet: { id: `${network}/virtualNetworks/${subnet}` }, ...more } },
          ],
        },
      },
    }),
  };
}

/** The first region that the recording names: in a body, in the path of a poll, or in a DNS name. */
const REGIONS = [/"location":\s*"([a-z0-9]+)"/, /\/locations\/([a-z0-9]+)\//, /\.([a-z0-9]+)\.cloudapp\.azure\.com/];

function locationOf({ exchanges }: Recording): string {
  const text = JSON.stringify(exchanges);
  return REGIONS.map((pattern) => pattern.exec(text)?.[1]).find((region) => region !== undefined) ?? "eastus";
}

function bodyOf(recording: Recording | undefined, index = 0): Record<string, unknown> {
  return (recording?.exchanges[index]?.response.body ?? {}) as Record<string, unknown>;
}

/** PUTs what the recording's first answer shows. */
function shown(recording: Recording): Put {
  const body = bodyOf(recording);
  return { path: body["id"] as string, body };
}

const pools = (...names: string[]) => ({ backendAddressPools: names.map((name) => ({ name, properties: {} })) });

const SETUPS: Readonly<Record<string, Setup>> = {
  "01": () => [],
  "02": (place) => [place.group()],
  "03": (place) => [place.group()],
  "04": (place) => [place.group(), place.address("pip1")],
  "05": (place) => [place.group()],
  "06": plainBalancer,
  "07": plainBalancer,
  "08": plainBalancer,
  "09": () => [],
  "10": plainBalancer,
  "11": parentBalancer,
  "12": parentBalancer,
  "13": addressPools,
  "14": addressPools,
  "15": portMapping,
  "16": (_place, _recording, all) => {
    const before = all.get("15");
    const put = before?.exchanges[0];
    if (before === undefined || put === undefined) throw new Error("recording 16 builds on 15");
    return [...portMapping(placeOf(before)), { path: targetOf(put).split("?")[0] ?? "", body: put.request.body }];
  },
  "17": (place) => [
    place.group(),
    place.address("PublicIPlb1"),
    place.balancer("lb1", "LoadBalancerFrontEnd", "PublicIPlb1", pools("lb1bepool")),
  ],
  "18": rulesBeforeUpdate,
  "19": (place, recording) => [
    place.group(),
    place.vnet("vnet", "10.0.0.0/16", { subnet: "10.0.0.0/24" }),
    shown(recording),
  ],
  "20": nicPool,
  "21": (place) => [place.group(), place.vnet("testVnet", "10.0.0.0/16", { testSubnet: "10.0.0.0/24" })],
  "22": (place) => [
    place.group(),
    place.vnet("testVnet", "10.0.0.0/16", { testSubnet: "10.0.0.0/24" }),
    place.nic("testResource", "ipConfig1", "testVnet/subnets/testSubnet"),
  ],
  "23": (place) => [
    place.group(),
    place.vnet("vnet1", "10.0.0.0/16", { subnet1: "10.0.0.0/24" }),
    place.address("ip1"),
    place.balancer("lb1", "frontend1", "ip1", pools("pool1")),
    place.nic("nic1", "ipconfig1", "vnet1/subnets/subnet1"),
  ],
  "24": (place) => [place.group()],
  "26": (place) => [
    place.group(),
    { path: `${place.network}/networkSecurityGroups/test-nsg1`, body: { location: place.location } },
  ],
  "27": (place) => [place.group()],
  "28": (place) => [
    place.group(),
    place.address("pubip1", { tags: {} }),
    place.balancer("lb1", "LoadBalancerFrontEnd", "pubip1"),
  ],
  "29": (place) => [place.group()],
  "30": (place) => [place.group()],
  "31": (place) => [place.group(), place.vnet("testParentResource", "10.1.0.0/16", {})],
  "32": (place) => [place.group(), place.vnet("appgwVnet", "10.0.0.0/16", {})],
  "33": (place) => [
    place.group(),
    place.vnet("vnet1", "10.1.0.0/16", { subnet1: "10.1.0.0/24" }, { privateLinkServiceNetworkPolicies: "Disabled" }),
    place.address("pip1"),
    place.balancer("lb1", "frontendConfig1", "pip1"),
  ],
  "34": linkService,
  "35": (place, recording) => {
    const body = bodyOf(recording);
    const properties = body["properties"] as { privateEndpointConnections: { id: string }[] };
    return [
      ...linkService(place),
      { path: body["id"] as string, body },
      ...properties.privateEndpointConnections.map((connection) => ({ path: connection.id, body: connection })),
    ];
  },
  "36": scaleSetNics,
  "37": scaleSetAddresses,
  "38": (place, recording) => [
    place.group(),
    place.vnet("vnet1", "10.1.0.0/16", { subnet1: "10.1.0.0/24" }),
    shown(recording),
  ],
  "39": scaleSetInstances,
  "40": (place) => [
    place.group(),
    place.vnet("vnet1", "10.1.0.0/16", { subnet1: "10.1.0.0/24" }),
    place.nic("nic1", "ipConfig1", "vnet1/subnets/subnet1"),
  ],
};

function plainBalancer(place: Place): Put[] {
  const balancer = place.balancer("testResource", "frontendConfig1", "pip1");
  const { tags: _, ...untagged } = balancer.body as { tags: unknown };
  return [place.group(), place.address("pip1"), { ...balancer, body: untagged }];
}

function parentBalancer(place: Place): Put[] {
  return [place.group(), place.address("pip1"), place.balancer("testParentResource", "frontendConfig1", "pip1")];
}

function addressPools(place: Place): Put[] {
  return [
    place.group(),
    place.vnet("clitestvnet", "10.0.0.0/16", { subnet1: "10.0.0.0/24", subnetx: "10.0.1.0/24" }),
    place.address("PublicIPlb1"),
    place.balancer("lb1", "LoadBalancerFrontEnd", "PublicIPlb1", pools("lb1bepool")),
  ];
}

function portMapping(place: Place): Put[] {
  const virtualNetwork = { id: `${place.network}/virtualNetworks/test-vnet` };
  const balancer = `${place.network}/loadBalancers/test-lb`;
  const address = { name: "test-address", properties: { ipAddress: "10.0.0.1", virtualNetwork } };
  return [
    place.group(),
    place.vnet("test-vnet", "10.0.0.0/16", {}),
    place.address("PublicIPtest-lb"),
    place.balancer("test-lb", "LoadBalancerFrontEnd", "PublicIPtest-lb", pools("test-lbbepool")),
    {
      path: `${balancer}/backendAddressPools/test-pool`,
      body: { properties: { loadBalancerBackendAddresses: [address] } },
    },
  ];
}

/** Recording 18 changes `rule1`; before, it was a plain TCP rule. */
function rulesBeforeUpdate(place: Place): Put[] {
  const balancer = `${place.network}/loadBalancers/lb1`;
  const rule = (name: string, pool: string, port: number) => ({
    name,
    properties: {
      frontendIPConfiguration: { id: `${balancer}/frontendIPConfigurations/LoadBalancerFrontEnd` },
      backendAddressPools: [{ id: `${balancer}/backendAddressPools/${pool}` }],
      frontendPort: port,
      backendPort: port,
      protocol: "Tcp",
    },
  });
  return [
    place.group(),
    place.address("PublicIPlb1"),
    place.balancer("lb1", "LoadBalancerFrontEnd", "PublicIPlb1", {
      ...pools("lb1bepool", "bap1", "bap2"),
      loadBalancingRules: [rule("rule2", "lb1bepool", 60), rule("rule1", "lb1bepool", 40)],
    }),
  ];
}

/** The load balancer without its members, and the NICs that join it. */
function nicPool(place: Place, recording: Recording): Put[] {
  const body = bodyOf(recording);
  const properties = body["properties"] as Record<string, unknown> & {
    backendAddressPools: { name: string; id: string; properties: { backendIPConfigurations: { id: string }[] } }[];
    frontendIPConfigurations: { properties: { publicIPAddress: { id: string } } }[];
  };
  const [pool] = properties.backendAddressPools;
  const address = properties.frontendIPConfigurations[0]?.properties.publicIPAddress.id ?? "";
  return [
    place.group(),
    place.vnet("vnet", "10.0.0.0/16", { subnet: "10.0.0.0/24" }),
    place.address(address.split("/").at(-1) ?? ""),
    { path: body["id"] as string, body: { ...body, properties: { ...properties, ...pools(pool?.name ?? "") } } },
    ...(pool?.properties.backendIPConfigurations ?? []).map(({ id }) => {
      const [nic = "", , config = ""] = id.split("/").slice(-3);
      return place.nic(nic, config, "vnet/subnets/subnet", { loadBalancerBackendAddressPools: [{ id: pool?.id }] });
    }),
  ];
}

function linkService(place: Place): Put[] {
  return [
    place.group(),
    place.vnet("vnet1", "10.0.0.0/16", { subnet1: "10.0.0.0/24" }, { privateLinkServiceNetworkPolicies: "Disabled" }),
    place.address("ip1"),
    place.balancer("lb1", "LoadBalancerFrontEnd", "ip1"),
  ];
}

interface ScaleSetOptions {
  readonly name: string;
  readonly capacity: number;
  readonly nic: string;
  readonly nicMore?: object;
  readonly config: string;
  readonly configMore?: object;
  readonly subnet: string;
}

function scaleSet(place: Place, options: ScaleSetOptions): Put {
  const subnet = { id: `${place.network}/virtualNetworks/${options.subnet}` };
  return {
    path: `${place.compute}/virtualMachineScaleSets/${options.name}`,
    body: {
      location: place.location,
      sku: { name: "Standard_D2s_v3", tier: "Standard", capacity: options.capacity },
      properties: {
        overprovision: false,
        orchestrationMode: "Uniform",
        upgradePolicy: { mode: "Manual" },
        virtualMachineProfile: {
          osProfile: { computerNamePrefix: "vmss", adminUsername: "sample-user", adminPassword: "secret" },
          storageProfile: {
            imageReference: {
              publisher: "MicrosoftWindowsServer",
              offer: "WindowsServer",
              sku: "2019-Datacenter",
              version: "latest",
            },
            osDisk: { createOption: "FromImage", caching: "None", managedDisk: { storageAccountType: "Premium_LRS" } },
          },
          networkProfile: {
            networkInterfaceConfigurations: [
              {
                name: options.nic,
                properties: {
                  primary: true,
                  ...options.nicMore,
                  ipConfigurations: [{ name: options.config, properties: { subnet, ...options.configMore } }],
                },
              },
            ],
          },
        },
      },
    },
  };
}

/** Recording 36 shows the NICs of four instances behind a load balancer and a security group. */
function scaleSetNics(place: Place, recording: Recording): Put[] {
  const value = bodyOf(recording)["value"] as unknown[];
  const { network } = place;
  return [
    place.group(),
    place.vnet("vmss000002VNET", "10.0.0.0/16", { vmss000002Subnet: "10.0.0.0/24" }),
    { path: `${network}/networkSecurityGroups/vmss000002NSG`, body: { location: place.location } },
    place.address("vmss000002LBPublicIP"),
    place.balancer("vmss000002LB", "loadBalancerFrontEnd", "vmss000002LBPublicIP", pools("vmss000002LBBEPool")),
    scaleSet(place, {
      name: "vmss000002",
      capacity: value.length,
      nic: "vmss67e04Nic",
      nicMore: { networkSecurityGroup: { id: `${network}/networkSecurityGroups/vmss000002NSG` } },
      config: "vmss67e04IPConfig",
      configMore: {
        loadBalancerBackendAddressPools: [
          { id: `${network}/loadBalancers/vmss000002LB/backendAddressPools/vmss000002LBBEPool` },
        ],
      },
      subnet: "vmss000002VNET/subnets/vmss000002Subnet",
    }),
  ];
}

/** Recording 37: every instance has a public address of its own. Its region stands in the names that they resolve to. */
function scaleSetAddresses(place: Place, recording: Recording): Put[] {
  const value = bodyOf(recording)["value"] as unknown[];
  return [
    place.group(),
    place.vnet("vnet", "10.0.0.0/16", { subnet: "10.0.0.0/24" }),
    scaleSet(place, {
      name: "vmsswithip000002",
      capacity: value.length,
      nic: "vmssw0499Nic",
      config: "vmssw0499IPConfig",
      configMore: {
        publicIPAddressConfiguration: {
          name: "instancepublicip",
          sku: { name: "Standard" },
          properties: { idleTimeoutInMinutes: 10, dnsSettings: { domainNameLabel: "clivmss000004" } },
        },
      },
      subnet: "vnet/subnets/subnet",
    }),
  ];
}

function scaleSetInstances(place: Place): Put[] {
  return [
    place.group(),
    place.vnet("vnet1", "10.1.0.0/16", { subnet1: "10.1.0.0/24" }),
    scaleSet(place, {
      name: "testParentResource",
      capacity: 1,
      nic: "vmss1",
      nicMore: { enableIPForwarding: true },
      config: "vmss1",
      subnet: "vnet1/subnets/subnet1",
    }),
  ];
}
