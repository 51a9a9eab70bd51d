resource "azurerm_lb_backend_address_pool" "scale_set" {
  name            = "scale-set"
  loadbalancer_id = azurerm_lb.internal.id
}

resource "azurerm_linux_virtual_machine_scale_set" "this" {
  name                            = "machines"
  resource_group_name             = azurerm_resource_group.this.name
  location                        = var.location
  sku                             = "Standard_D2s_v5"
  instances                       = 2
  admin_username                  = "azureuser"
  admin_password                  = "not-A-secret-1"
  disable_password_authentication = false

  source_image_reference {
    publisher = "Canonical"
    offer     = "ubuntu-24_04-lts"
    sku       = "server"
    version   = "latest"
  }

  os_disk {
    storage_account_type = "Standard_LRS"
    caching              = "ReadWrite"
  }

  network_interface {
    name    = "nic"
    primary = true

    ip_configuration {
      name                                   = "ipconfig"
      primary                                = true
      subnet_id                              = azurerm_subnet.nodes.id
      load_balancer_backend_address_pool_ids = [azurerm_lb_backend_address_pool.scale_set.id]
    }
  }
}
