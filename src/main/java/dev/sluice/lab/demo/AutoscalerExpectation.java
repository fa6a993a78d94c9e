package dev.sluice.lab.demo;

/** The expectations of the scenario of autoscalers, in order. */
public enum AutoscalerExpectation implements Expectation {
  /** By the API of the Cluster Autoscaler. */
  REQUEST("a ProvisioningRequest brings two nodes, and the Job's two pods run on them"),
  /** By pods alone. */
  PLACEHOLDERS("placeholder pods bring a node, and the Job's pod takes the place of one"),
  /** A refusal. */
  NEXT_FLAVOR("a pool at its limit gives no node, and the Job runs in the next flavor"),
  /** Nothing is left over. */
  NOTHING_LEFT("no placeholder is left"),
  /** Quota is kept. */
  WITHIN_QUOTA("no queue ever gives more than its quota");

  private final String text;

  AutoscalerExpectation(String text) {
    this.text = text;
  }

  @Override
  public int number() {
    return ordinal() + 1;
  }

  @Override
  public String text() {
    return text;
  }
}
