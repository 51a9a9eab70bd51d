resource "azurerm_lb" "internal" {
  name                = "internal"
  resource_group_name = azurerm_resource_group.this.name
  location            = var.location
  sku                 = "Standard"

  frontend_ip_configuration {
    name      = "inside"
    subnet_id = azurerm_subnet.nodes.id
  }
}

resource "azurerm_private_link_service" "this" {
  name                                        = "service"
  resource_group_name                         = azurerm_resource_group.this.name
  location                                    = var.location
  load_balancer_frontend_ip_configuration_ids = [azurerm_lb.internal.frontend_ip_configuration[0].id]

  nat_ip_configuration {
    name      = "nat"
    subnet_id = azurerm_subnet.links.id
    primary   = true
  }
}
