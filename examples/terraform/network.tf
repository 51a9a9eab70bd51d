resource "azurerm_virtual_network" "this" {
  name                = "net"
  resource_group_name = azurerm_resource_group.this.name
  location            = var.location
  address_space       = ["10.20.0.0/16"]
}

resource "azurerm_subnet" "nodes" {
  name                 = "nodes"
  resource_group_name  = azurerm_resource_group.this.name
  virtual_network_name = azurerm_virtual_network.this.name
  address_prefixes     = ["10.20.1.0/24"]
}

resource "azurerm_subnet" "links" {
  name                                          = "links"
  resource_group_name                           = azurerm_resource_group.this.name
  virtual_network_name                          = azurerm_virtual_network.this.name
  address_prefixes                              = ["10.20.2.0/24"]
  private_link_service_network_policies_enabled = false
}

resource "azurerm_network_security_group" "this" {
  name                = "nsg"
  resource_group_name = azurerm_resource_group.this.name
  location            = var.location
}

resource "azurerm_network_security_rule" "web" {
  name                        = "web"
  resource_group_name         = azurerm_resource_group.this.name
  network_security_group_name = azurerm_network_security_group.this.name
  priority                    = 100
  direction                   = "Inbound"
  access                      = "Allow"
  protocol                    = "Tcp"
  source_port_range           = "*"
  source_address_prefix       = "Internet"
  destination_port_ranges     = var.web_ports
  destination_address_prefix  = "*"
}

resource "azurerm_subnet_network_security_group_association" "nodes" {
  subnet_id                 = azurerm_subnet.nodes.id
  network_security_group_id = azurerm_network_security_group.this.id
}

resource "azurerm_public_ip" "web" {
  name                = "web"
  resource_group_name = azurerm_resource_group.this.name
  location            = var.location
  allocation_method   = "Static"
  sku                 = "Standard"
  domain_name_label   = "terraform-web"
}

resource "azurerm_public_ip_prefix" "this" {
  name                = "prefix"
  resource_group_name = azurerm_resource_group.this.name
  location            = var.location
  prefix_length       = 30
}

resource "azurerm_public_ip" "outbound" {
  name                = "outbound"
  resource_group_name = azurerm_resource_group.this.name
  location            = var.location
  allocation_method   = "Static"
  sku                 = "Standard"
  public_ip_prefix_id = azurerm_public_ip_prefix.this.id
}

resource "azurerm_network_interface" "node" {
  count               = 2
  name                = "node-${count.index}"
  resource_group_name = azurerm_resource_group.this.name
  location            = var.location

  ip_configuration {
    name                          = "ipconfig"
    subnet_id                     = azurerm_subnet.nodes.id
    private_ip_address_allocation = "Dynamic"
  }
}
