/** The command {@code sluice what-if} (docs/what-if.md): files in, tables and a page out. */
@NullMarked
package dev.sluice.app.whatif;

import org.jspecify.annotations.NullMarked;
