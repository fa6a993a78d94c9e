package dev.sluice.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The tests of the class use a real control plane. Their methods, and those of their set-up, may
 * have a parameter of type {@link TestCluster}; each test gets its own namespace in it, or the one
 * that a {@code @BeforeAll} method of the class asked for.
 *
 * <p>Name such classes {@code *IT}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(ControlPlaneExtension.class)
public @interface ControlPlaneTest {

  /**
   * One of the {@link #apiServerArguments}: the API server writes what the operator's service
   * account asks for to {@link AuditedOperators#log}.
   */
  String AUDIT = "audit the operator";

  /**
   * False: the control plane is shared with all tests of the run, so a test disturbs nothing and
   * gives cluster-wide objects names from {@link TestCluster#name}. True: the class has one of its
   * own, and its methods may also have a parameter of type {@link
   * dev.sluice.lab.controlplane.ControlPlane}, whose programs can be crashed, paused and restarted.
   */
  boolean exclusive() default false;

  /**
   * False: the class has its control plane to itself only while it runs; only with {@link
   * #exclusive}. Classes before it may have left objects and an operator's webhooks there. The
   * class starts operators and stops them, and leaves the programs alone. This saves the start of a
   * control plane.
   */
  boolean fresh() default true;

  /** Additional arguments of the API server; only with {@link #exclusive} and {@link #fresh}. */
  String[] apiServerArguments() default {};

  /**
   * False: the store and the API server alone run; only with {@link #exclusive} and {@link #fresh}.
   * There are no nodes then, nothing makes pods or service accounts or collects garbage, and a
   * namespace that is deleted doesn't end.
   */
  boolean controllers() default true;

  /**
   * Another minor version of Kubernetes, such as {@code 1.29}, for which {@code
   * tools/control-plane} has module files; only with {@link #exclusive} and {@link #fresh}.
   */
  String kubernetes() default "";
}
