package dev.sluice.lab.demo;

import java.util.List;

/** Content of a screen as lines of text; read periodically, from any thread. */
interface Dashboard {

  /**
   * A row of a section.
   *
   * @param key changes when the row says something that is told where there is no table
   * @param done whether nothing happens to it any more, so that a table only counts it
   */
  record Row(String key, String text, boolean done) {

    /** A row that is told each time it changes. */
    static Row of(String text) {
      return new Row(text, text, false);
    }
  }

  /**
   * A section of the screen.
   *
   * @param title heading in a table
   * @param tag prefix of each row where there is no table
   * @param rows the present state, what matters most first
   */
  record Section(String title, String tag, List<Row> rows) {

    /** Copies the rows. */
    public Section {
      rows = List.copyOf(rows);
    }
  }

  /** The present state. */
  List<Section> sections();

  /** All events so far, in order. */
  List<String> events();
}
