package dev.sluice.workload;

import java.util.Map;

/** What in the cluster changes how much a Workload counts as. Readable from any thread. */
public interface ResourceContext {

  /** The rules of a namespace; {@link NamespaceLimits#NONE} when there are none. */
  NamespaceLimits rules(String namespace);

  /** What a RuntimeClass adds to each pod, in amounts; empty when it is unknown or adds nothing. */
  Map<String, Long> overhead(String runtimeClass);

  /** Is told when something changed, from any thread. */
  interface Listener {

    /** The rules of this namespace are others now. */
    void rulesChanged(String namespace);

    /** The overhead of this RuntimeClass is another now. */
    void overheadChanged(String runtimeClass);
  }
}
