/** The page that compares the API with what is there: gates, fields, metrics, reasons. */
@NullMarked
package dev.sluice.parity;

import org.jspecify.annotations.NullMarked;
