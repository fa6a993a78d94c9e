package dev.sluice.testing;

import dev.sluice.lab.controlplane.ControlPlane;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ExtensionContext.StoreScope;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/** Gives tests a control plane: one for the whole run, or one for a class. */
final class ControlPlaneExtension implements ParameterResolver {

  private static final Namespace NAMESPACE = Namespace.create(ControlPlaneExtension.class);

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == TestCluster.class || type == ControlPlane.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    ControlPlaneTest wish = wish(context);
    RunningControlPlane running = wish.exclusive() ? exclusive(wish, context) : shared(context);
    if (parameter.getParameter().getType() == ControlPlane.class) {
      if (!wish.exclusive()) {
        throw new ParameterResolutionException(
            "ControlPlane is given to classes with @ControlPlaneTest(exclusive = true) only;"
                + " the shared one may not be disturbed");
      }
      return running.controlPlane();
    }
    return store(context)
        .computeIfAbsent("cluster", key -> TestCluster.in(running), TestCluster.class);
  }

  private static RunningControlPlane shared(ExtensionContext context) {
    return context
        .getStore(StoreScope.LAUNCHER_SESSION, NAMESPACE)
        .computeIfAbsent(
            "shared", key -> RunningControlPlane.start("it"), RunningControlPlane.class);
  }

  private static RunningControlPlane exclusive(ControlPlaneTest wish, ExtensionContext context) {
    ExtensionContext ofClass = context;
    while (ofClass.getTestMethod().isPresent()) {
      ofClass = ofClass.getParent().orElseThrow();
    }
    return store(ofClass)
        .computeIfAbsent(
            "exclusive",
            key -> RunningControlPlane.start("own", wish.apiServerArguments()),
            RunningControlPlane.class);
  }

  private static ControlPlaneTest wish(ExtensionContext context) {
    return AnnotationSupport.findAnnotation(
            context.getRequiredTestClass(),
            ControlPlaneTest.class,
            context.getEnclosingTestClasses())
        .orElseThrow();
  }

  private static Store store(ExtensionContext context) {
    return context.getStore(NAMESPACE);
  }
}
