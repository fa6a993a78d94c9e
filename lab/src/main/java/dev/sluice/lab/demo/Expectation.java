package dev.sluice.lab.demo;

/** An expectation of a scenario, judged once: a constant of an enum, in the scenario's order. */
public interface Expectation {

  /** Its place among the constants of its enum, from 0. */
  int ordinal();

  /** Its number in the scenario, from 1. */
  default int number() {
    return ordinal() + 1;
  }

  /** The text for users. */
  String text();
}
