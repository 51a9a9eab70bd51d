/**
 * The machines of the nodes, as raw ARM JSON like everything in `model/arm.ts`. Three kinds exist, told apart by the
 * node's provider id and by the virtual machine's own description:
 *
 *   kind             | provider id ends in                                          | its network interface is
 *   -----------------|--------------------------------------------------------------|--------------------------------
 *   virtual machine  | virtualMachines/{name}                                       | a resource of its own
 *   flexible member  | virtualMachines/{name}, and names a scale set                | a resource of its own
 *   uniform instance | virtualMachineScaleSets/{set}/virtualMachines/{instance id}  | described by the instance
 */
import type { Reference } from "../model/arm.ts";

interface Open {
  readonly [field: string]: unknown;
}

export interface IPConfiguration extends Open {
  readonly id?: string;
  readonly name: string;
  readonly properties: {
    readonly primary?: boolean;
    readonly privateIPAddressVersion?: string;
    readonly loadBalancerBackendAddressPools?: readonly Reference[];
    readonly [field: string]: unknown;
  };
}

export interface NetworkInterface extends Open {
  readonly id: string;
  readonly name: string;
  readonly etag?: string;
  readonly properties: {
    readonly provisioningState?: string;
    readonly ipConfigurations?: readonly IPConfiguration[];
    readonly virtualMachine?: Reference;
    readonly [field: string]: unknown;
  };
}

export interface InterfaceConfiguration extends Open {
  readonly name: string;
  readonly properties: {
    readonly primary?: boolean;
    readonly ipConfigurations?: readonly IPConfiguration[];
    readonly [field: string]: unknown;
  };
}

export interface InterfaceConfigurations extends Open {
  readonly networkInterfaceConfigurations?: readonly InterfaceConfiguration[];
}

export interface ScaleSet extends Open {
  readonly id: string;
  readonly name: string;
  readonly etag?: string;
  readonly properties: {
    readonly provisioningState?: string;
    readonly virtualMachineProfile?: {
      readonly networkProfile?: InterfaceConfigurations;
      readonly [field: string]: unknown;
    };
    readonly [field: string]: unknown;
  };
}

interface InstanceView extends Open {
  readonly statuses?: readonly { readonly code?: string }[];
}

/** An instance of a uniform scale set. */
export interface Instance extends Open {
  readonly id: string;
  readonly instanceId?: string;
  readonly etag?: string;
  readonly properties: {
    readonly provisioningState?: string;
    readonly instanceView?: InstanceView;
    readonly networkProfileConfiguration?: InterfaceConfigurations;
    readonly [field: string]: unknown;
  };
}

export interface VirtualMachine extends Open {
  readonly id: string;
  readonly name: string;
  readonly properties: {
    readonly provisioningState?: string;
    readonly availabilitySet?: Reference;
    readonly virtualMachineScaleSet?: Reference;
    readonly networkProfile?: {
      readonly networkInterfaces?: readonly (Reference & { readonly properties?: { readonly primary?: boolean } })[];
    };
    readonly [field: string]: unknown;
  };
}

/** Everything by id in lower case. */
export interface Compute {
  readonly virtualMachines: ReadonlyMap<string, VirtualMachine>;
  readonly networkInterfaces: ReadonlyMap<string, NetworkInterface>;
  readonly scaleSets: ReadonlyMap<string, ScaleSet>;
  readonly instances: ReadonlyMap<string, Instance>;
}
