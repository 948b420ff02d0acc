# What the component dataflow stands on. The installed package reads this file too.
find_package(fmt REQUIRED)      # text
find_package(pugixml REQUIRED)  # SDF3 files
