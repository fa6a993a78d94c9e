package dev.sluice.server;

/** Answers requests. Called from many virtual threads at once. */
@FunctionalInterface
public interface Endpoint {

  /**
   * The answer. A request that can't be served is answered with a status that says so; what is
   * thrown is a bug, is logged, and becomes status 500 without detail.
   */
  Response answer(Request request);
}
