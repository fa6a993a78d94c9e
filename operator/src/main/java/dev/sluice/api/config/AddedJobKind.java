package dev.sluice.api.config;

/**
 * A kind of jobs beside the built-in ones: a JobKind of the cluster declares it
 * (docs/declared-kinds.md), or a jar provides it (docs/kinds-in-java.md).
 */
public interface AddedJobKind {

  /** The name of the kind among the frameworks of the configuration; it is always turned on. */
  String framework();
}
