package dev.sluice.lab.demo;

/** Shows a running scenario. */
interface Screen extends ProgressListener, AutoCloseable {

  /** Shows the last state and stops updating. */
  @Override
  void close();
}
