/**
 * A second engine, written from the contract alone and without any cleverness, and the tests that
 * drive it beside the real one. Facts may enter, as for the real engine. What leaves are its
 * decisions, to be compared.
 */
@NullMarked
package dev.sluice.reference;

import org.jspecify.annotations.NullMarked;
