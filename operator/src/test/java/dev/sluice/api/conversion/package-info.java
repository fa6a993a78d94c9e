/** What conversion between versions promises, told by examples and held by generated objects. */
@NullMarked
package dev.sluice.api.conversion;

import org.jspecify.annotations.NullMarked;
