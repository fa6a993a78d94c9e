package dev.sluice.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The tests of the class use an operator, through the API alone. Its control plane, and the
 * operator itself, are shared with all classes of the same configuration that run at the same time:
 * a test uses names of its own only (see {@link TestCluster}), and disturbs neither of both. Their
 * methods, and those of their set-up, may have a parameter of type {@link TestCluster}.
 *
 * <p>Name such classes {@code *IT}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(ControlPlaneExtension.class)
public @interface OperatorTest {

  /** A configuration with gates that are off by default, so that such classes share an operator. */
  String WITH_GATES =
      "featureGates: {ElasticJobsViaWorkloadSlicesForProvisioningRequests: true, PriorityBoost:"
          + " true}";

  /** Fields of the operator's configuration file that differ from what is shipped, as YAML. */
  String configuration() default "";
}
