package dev.sluice.lab.demo;

/** One of the things that a story is about; judged once. */
public interface Expectation {

  /** Its place in the story, from 1. */
  int number();

  /** For people. */
  String text();
}
