package dev.sluice.lab.demo;

import java.util.List;

/** Content of a screen as lines of text; read periodically, from any thread. */
interface Dashboard {

  /**
   * A section of the screen.
   *
   * @param title heading in a table
   * @param tag prefix of each line where there is no table
   * @param lines the present state
   */
  record Section(String title, String tag, List<String> lines) {

    /** Copies the lines. */
    public Section {
      lines = List.copyOf(lines);
    }
  }

  /** The present state. */
  List<Section> sections();

  /** All events so far, in order. */
  List<String> events();
}
