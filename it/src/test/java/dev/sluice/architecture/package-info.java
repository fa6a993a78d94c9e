/** The rules of the house: format and direction of dependencies, held by tests. */
@NullMarked
package dev.sluice.architecture;

import org.jspecify.annotations.NullMarked;
