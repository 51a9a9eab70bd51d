resource "azurerm_lb" "public" {
  name                = "public"
  resource_group_name = azurerm_resource_group.this.name
  location            = var.location
  sku                 = "Standard"

  frontend_ip_configuration {
    name                 = "web"
    public_ip_address_id = azurerm_public_ip.web.id
  }

  frontend_ip_configuration {
    name                 = "outbound"
    public_ip_address_id = azurerm_public_ip.outbound.id
  }
}

resource "azurerm_lb_backend_address_pool" "nodes" {
  name            = "nodes"
  loadbalancer_id = azurerm_lb.public.id
}

resource "azurerm_lb_backend_address_pool" "addresses" {
  name            = "addresses"
  loadbalancer_id = azurerm_lb.public.id
}

resource "azurerm_lb_backend_address_pool_address" "one" {
  name                    = "one"
  backend_address_pool_id = azurerm_lb_backend_address_pool.addresses.id
  virtual_network_id      = azurerm_virtual_network.this.id
  ip_address              = "10.20.1.100"
}

resource "azurerm_lb_probe" "web" {
  name            = "web"
  loadbalancer_id = azurerm_lb.public.id
  protocol        = "Http"
  request_path    = "/healthz"
  port            = 8080
}

resource "azurerm_lb_rule" "web" {
  name                           = "web"
  loadbalancer_id                = azurerm_lb.public.id
  frontend_ip_configuration_name = "web"
  protocol                       = "Tcp"
  frontend_port                  = 80
  backend_port                   = 8080
  backend_address_pool_ids       = [azurerm_lb_backend_address_pool.nodes.id]
  probe_id                       = azurerm_lb_probe.web.id
  idle_timeout_in_minutes        = var.idle_timeout
  disable_outbound_snat          = true
}

resource "azurerm_lb_nat_rule" "ssh" {
  name                           = "ssh"
  resource_group_name            = azurerm_resource_group.this.name
  loadbalancer_id                = azurerm_lb.public.id
  frontend_ip_configuration_name = "web"
  protocol                       = "Tcp"
  frontend_port                  = 2222
  backend_port                   = 22
}

resource "azurerm_lb_outbound_rule" "all" {
  name                    = "all"
  loadbalancer_id         = azurerm_lb.public.id
  protocol                = "All"
  backend_address_pool_id = azurerm_lb_backend_address_pool.nodes.id

  frontend_ip_configuration {
    name = "outbound"
  }
}

resource "azurerm_network_interface_backend_address_pool_association" "node" {
  count                   = 2
  network_interface_id    = azurerm_network_interface.node[count.index].id
  ip_configuration_name   = "ipconfig"
  backend_address_pool_id = azurerm_lb_backend_address_pool.nodes.id
}

resource "azurerm_network_interface_nat_rule_association" "ssh" {
  network_interface_id  = azurerm_network_interface.node[0].id
  ip_configuration_name = "ipconfig"
  nat_rule_id           = azurerm_lb_nat_rule.ssh.id
}
