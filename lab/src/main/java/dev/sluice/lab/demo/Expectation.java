package dev.sluice.lab.demo;

/** An expectation of a scenario, judged once. */
public interface Expectation {

  /** Its number in the scenario, from 1. */
  int number();

  /** The text for users. */
  String text();
}
