/** A security rule of a user, as a client writes it. */
export const FOREIGN_RULE = {
  properties: {
    access: "Allow",
    direction: "Inbound",
    priority: 200,
    protocol: "Tcp",
    sourceAddressPrefix: "1.2.3.4/32",
    sourcePortRange: "*",
    destinationAddressPrefix: "*",
    destinationPortRange: "22",
  },
};
