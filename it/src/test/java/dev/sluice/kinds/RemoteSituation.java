package dev.sluice.kinds;

import java.util.Locale;

/** What happens to a job of any kind that a manager sends to one of two worker clusters. */
enum RemoteSituation {
  SENT("it runs in one worker with all its pods; neither the other worker nor the manager has any"),
  STATUS("its status in the manager is that of the worker"),
  STOPPED("switched off in the manager, it waits there, and nothing of it is left in workers"),
  SENT_AGAIN("switched on, it is sent again"),
  LOST("its worker is away for too long: it runs in the other one, and only there later on"),
  MOVED("preempted in its worker, it is taken back and runs in the other worker"),
  FINISHED("it ends well in the worker, and so says its Workload here; nothing is left there"),
  FAILED("it ends badly in the worker, and so says its Workload here; nothing is left there"),
  DELETED("deleted in the manager, nothing of it is left anywhere");

  private final String text;

  RemoteSituation(String text) {
    this.text = text;
  }

  String text() {
    return text;
  }

  String title() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
