package dev.sluice.lab.demo;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;

/** Where the story is played: whether pods run there, and who decides when. */
public sealed interface DemoEnvironment {

  /** A cluster of the story's own, whose nodes play pods. */
  record Own(KubernetesClient client, boolean patient) implements DemoEnvironment {

    private static final String LABEL = "instance-type";

    /** New pods on ondemand nodes have to wait, so that the filler stays as long as is needed. */
    void holdPods() {
      cordon(true);
    }

    /** They may run. */
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

  /** A cluster of somebody else, which can't run the story's images: Jobs are ended by deletion. */
  record Foreign() implements DemoEnvironment {}
}
