package dev.sluice.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The tests of the class use a manager and its two workers through their APIs. These are shared
 * with all such classes of the run: a test uses names of its own only, and disturbs neither the
 * clusters nor their operators. Their methods, and those of their set-up, may have a parameter of
 * type {@link MultiCluster}; each test gets its own share of the clusters, or the one that a
 * {@code @BeforeAll} method of the class asked for.
 *
 * <p>The operators queue Jobs, Pods and StatefulSets, and the manager lets workers preempt one
 * after the other. Name such classes {@code *IT}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(MultiClusterExtension.class)
public @interface MultiClusterTest {}
