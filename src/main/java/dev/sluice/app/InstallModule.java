package dev.sluice.app;

import dev.sluice.install.Installer;
import java.io.IOException;
import java.util.Optional;

/**
 * Installs the definitions and registrations if that was asked for, and checks that the cluster has
 * what the operator needs.
 */
record InstallModule(OperatorContext context, Optional<Installer> installer)
    implements OperatorModule {

  @Override
  public void start(CacheSyncWaiter cacheSync) throws IOException {
    if (installer.isPresent()) {
      installer.get().install();
      StartRequirements.check(context.client(), context.configuration().namespace());
      return;
    }
    StartRequirements.Registrations registrations =
        StartRequirements.Registrations.read(context.client());
    StartRequirements.check(context.client(), context.configuration().namespace());
    StartRequirements.checkRegistrations(registrations, context.configuration());
  }
}
