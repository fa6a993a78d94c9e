package dev.sluice.lab.demo;

/** What is seen of the story while it goes on. */
interface Screen extends ProgressListener, AutoCloseable {

  /** Shows the last state, and nothing from then on. */
  @Override
  void close();
}
