package dev.sluice.testing;

import dev.sluice.lab.controlplane.ControlPlane;
import java.lang.annotation.Annotation;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ExtensionContext.StoreScope;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Gives tests a control plane: one for the whole run, one of an operator that classes share, or one
 * for a class.
 */
final class ControlPlaneExtension implements ParameterResolver {

  private static final Namespace NAMESPACE = Namespace.create(ControlPlaneExtension.class);

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == TestCluster.class || type == ControlPlane.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    boolean programs = parameter.getParameter().getType() == ControlPlane.class;
    Optional<ControlPlaneTest> wish = annotation(ControlPlaneTest.class, context);
    boolean exclusive = wish.map(ControlPlaneTest::exclusive).orElse(false);
    if (programs && !exclusive) {
      throw new ParameterResolutionException(
          "ControlPlane is given to classes with @ControlPlaneTest(exclusive = true) only;"
              + " a shared one may not be disturbed");
    }
    RunningControlPlane running =
        wish.map(it -> it.exclusive() ? exclusive(it, context) : shared(context))
            .orElseGet(() -> operated(context));
    return programs
        ? running.controlPlane()
        : store(context)
            .computeIfAbsent("cluster", key -> TestCluster.in(running), TestCluster.class);
  }

  private static RunningControlPlane operated(ExtensionContext context) {
    OperatorTest wish = annotation(OperatorTest.class, context).orElseThrow();
    return leased(context, operators -> operators.lease(wish.configuration()));
  }

  private static RunningControlPlane leased(
      ExtensionContext context, Function<SharedOperators, SharedOperators.Lease> lease) {
    SharedOperators operators =
        context
            .getStore(StoreScope.LAUNCHER_SESSION, NAMESPACE)
            .computeIfAbsent("operators", key -> new SharedOperators(), SharedOperators.class);
    return store(ofClass(context))
        .computeIfAbsent("lease", key -> lease.apply(operators), SharedOperators.Lease.class)
        .plane();
  }

  private static RunningControlPlane shared(ExtensionContext context) {
    return context
        .getStore(StoreScope.LAUNCHER_SESSION, NAMESPACE)
        .computeIfAbsent(
            "shared", key -> RunningControlPlane.start("it"), RunningControlPlane.class);
  }

  private static RunningControlPlane exclusive(ControlPlaneTest wish, ExtensionContext context) {
    if (!wish.fresh()) {
      return leased(context, SharedOperators::leaseWithoutOperator);
    }
    return store(ofClass(context))
        .computeIfAbsent("exclusive", key -> started(wish), RunningControlPlane.class);
  }

  private static RunningControlPlane started(ControlPlaneTest wish) {
    String stem = "own";
    if (!wish.kubernetes().isEmpty()) {
      return RunningControlPlane.startOf(wish.kubernetes(), stem, wish.apiServerArguments());
    }
    return wish.controllers()
        ? RunningControlPlane.start(stem, wish.apiServerArguments())
        : RunningControlPlane.startWithoutControllers(stem, wish.apiServerArguments());
  }

  private static ExtensionContext ofClass(ExtensionContext context) {
    ExtensionContext ofClass = context;
    while (ofClass.getTestMethod().isPresent()) {
      ofClass = ofClass.getParent().orElseThrow();
    }
    return ofClass;
  }

  private static <A extends Annotation> Optional<A> annotation(
      Class<A> type, ExtensionContext context) {
    return AnnotationSupport.findAnnotation(
        context.getRequiredTestClass(), type, context.getEnclosingTestClasses());
  }

  private static Store store(ExtensionContext context) {
    return context.getStore(NAMESPACE);
  }
}
