/**
 * What people write and read: one type per kind and version, and the words that objects carry.
 * Plain values that mirror the API may enter, with no behaviour beyond reading themselves. Every
 * room that talks to the API server may use them; the core never does.
 */
@NullMarked
package dev.sluice.api;

import org.jspecify.annotations.NullMarked;
