"""The Pulumi program that an administrator runs once, before CI can preview the fleet."""
