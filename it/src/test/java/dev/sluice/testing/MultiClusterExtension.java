package dev.sluice.testing;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.StoreScope;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Gives tests their share of one manager and its workers, which the whole run has. */
final class MultiClusterExtension implements ParameterResolver {

  private static final Namespace NAMESPACE = Namespace.create(MultiClusterExtension.class);
  private static final String SETTINGS =
      """
      integrations: {frameworks: [batch/job, pod, statefulset]}
      featureGates: {MultiKueueOrchestratedPreemption: true}
      """;
  private static final String MANAGER =
      SETTINGS
          + """
          multiKueue:
            gcInterval: 5s
            externalFrameworks: [{name: Flow.v1.example.org}]
          """;

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == MultiCluster.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    ManagerAndWorkers clusters =
        context
            .getStore(StoreScope.LAUNCHER_SESSION, NAMESPACE)
            .computeIfAbsent(
                "clusters",
                key ->
                    ManagerAndWorkers.start(new ManagerAndWorkers.Options(MANAGER, SETTINGS, true)),
                ManagerAndWorkers.class);
    return context
        .getStore(NAMESPACE)
        .computeIfAbsent("share", key -> clusters.share(), MultiCluster.class);
  }
}
