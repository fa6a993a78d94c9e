package dev.sluice.kube.leader;

import java.util.function.BooleanSupplier;

/**
 * Whether this process may decide and write. Whoever is about to write asks at that moment: the
 * answer ends by the clock, whether or not anybody has noticed yet that the lease could not be
 * renewed.
 */
public interface Leadership {

  /** Whether this process leads now. */
  boolean leading();

  /** Which part this process plays, by the word that metrics use. */
  default Role role() {
    return leading() ? Role.LEADER : Role.FOLLOWER;
  }

  /**
   * How often the leadership had changed hands when this process got it: a later leader has a
   * larger number. 0 while this process has not led, and without an election.
   */
  default long term() {
    return 0;
  }

  /**
   * The leadership of a process that runs alone, without election: it leads as soon as it is ready.
   *
   * @param ready whether it has listed the cluster
   */
  static Leadership alone(BooleanSupplier ready) {
    return new Leadership() {
      @Override
      public boolean leading() {
        return ready.getAsBoolean();
      }

      @Override
      public Role role() {
        return Role.STANDALONE;
      }
    };
  }

  /** The part that a process plays. */
  enum Role {
    LEADER,
    FOLLOWER,
    STANDALONE
  }

  /** Is told when leadership begins and ends; each at most once, from the elector's threads. */
  interface Listener {

    /** This process leads from now on. */
    void started();

    /**
     * This process doesn't lead any more, and never will again: stop deciding at once, and end the
     * process.
     */
    void lost();
  }
}
