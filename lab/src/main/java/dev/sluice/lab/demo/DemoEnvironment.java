package dev.sluice.lab.demo;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;

/** Environment of a demo: whether pods run there, and who controls when they run. */
public sealed interface DemoEnvironment {

  /** A cluster started for the demo, whose nodes simulate pods. */
  record Own(KubernetesClient client, boolean patient) implements DemoEnvironment {

    private static final String LABEL = "instance-type";

    /** Holds new pods on ondemand nodes, so that the filler stays as long as needed. */
    void holdPods() {
      cordon(true);
    }

    /** Releases the held pods. */
    void letPodsRun() {
      cordon(false);
    }

    private void cordon(boolean unschedulable) {
      for (Node node : client.nodes().withLabel(LABEL, "ondemand").list().getItems()) {
        client
            .nodes()
            .withName(node.getMetadata().getName())
            .edit(
                current -> {
                  current.getSpec().setUnschedulable(unschedulable);
                  return current;
                });
      }
    }
  }

  /** An existing cluster that cannot run the scenario's images: Jobs are ended by deletion. */
  record Foreign() implements DemoEnvironment {}
}
