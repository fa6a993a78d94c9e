/** A controller of checks that is made up is a class and a line. */
@NullMarked
package dev.sluice.checks.controller;

import org.jspecify.annotations.NullMarked;
