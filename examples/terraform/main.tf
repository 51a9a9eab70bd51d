# Load balancing on Azure as azurerm describes it: a network, a public and an internal load balancer with everything that
# can be attached to them. docs/emulator.md says how to apply it to the emulator.

terraform {
  required_providers {
    azurerm = { source = "hashicorp/azurerm" }
  }
}

provider "azurerm" {
  features {}
  resource_provider_registrations = "none"
}

variable "location" {
  type    = string
  default = "westus2"
}

variable "idle_timeout" {
  description = "Minutes until an idle connection of the web rule ends."
  type        = number
  default     = 4
}

variable "web_ports" {
  description = "Ports that the security group lets in."
  type        = list(string)
  default     = ["80"]
}

resource "azurerm_resource_group" "this" {
  name     = "terraform"
  location = var.location
  tags     = { made-by = "terraform" }
}
