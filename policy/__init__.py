"""The CrossGuard policy pack: rules for every resource that the engine is about to create.

The pack is separate from the program, so that it checks the resources of every component. Its rules
import fleet/ and nothing else of the program.
"""
