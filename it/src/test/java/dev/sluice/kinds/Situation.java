package dev.sluice.kinds;

import java.util.Locale;

/** What happens to a job of any kind in one cluster. */
enum Situation {
  SUSPENDED("created as running, it is suspended or its pods are gated"),
  HELD("no pod of it runs before it has quota, and its Workload says why it waits"),
  PRIORITY_CHANGED("the label of a priority class gives its waiting Workload that priority"),
  MOVED("the label of another queue moves it while it waits, and it starts there"),
  ONE_WORKLOAD(
      "there is one Workload per object (per pod of a Deployment), and none for the objects below"),
  STARTED("pods of each pod set get the flavor's node selector and toleration, and their labels"),
  READY("its Workload says that all pods are ready"),
  EVICTED("evicted, it is suspended without pods, its templates as they were byte for byte"),
  STARTED_AGAIN("it starts again when it may"),
  RECLAIMED("pods that have ended give their quota back before the end"),
  FINISHED("it ends well, and so says its Workload; its quota is free"),
  FAILED("it ends badly, and so says its Workload; its quota is free"),
  DELETED_HELD("deleted while it waits, it leaves no Workload"),
  DELETED_RUNNING("deleted while it runs, it leaves neither pods nor a Workload, and no usage");

  private final String text;

  Situation(String text) {
    this.text = text;
  }

  String text() {
    return text;
  }

  String title() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
