"""The CrossGuard pack: what no program of this fleet may deploy, judged on what the engine sees.

It stands outside the program on purpose: it judges what is sent, whatever component sent it. Rules
reuse fleet/ and import nothing else of the program.
"""
