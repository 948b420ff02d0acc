"""What the steps of jedi.case look at; see run_check.py."""


def with_a_wrong_second_instance():
    g = open("good.cfg").read().replace('instance_num = "1"', 'instance_num = "2"')
    i = g.index("{\n network")
    j = g.index("} )") + 1
    b = g[i:j].replace('"n"', '"m"').replace("1,2", "0,1")
    open("x.cfg", "w").write(g[:j] + ", " + b + g[j:])


def with_a_name_that_is_not_utf_8():
    g = open("good.cfg", "rb").read().replace(b'"n"', b'"n\xff"')
    open("x.cfg", "wb").write(g)
